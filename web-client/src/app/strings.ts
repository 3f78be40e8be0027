/** Words for values that the code names. */
export const appWords = {
  views: {
    start: 'Start',
    messages: 'Messages',
    tree: 'Topics',
    charts: 'Charts',
    wire: 'Wire',
    admin: 'Admin',
  },
  theme: { label: 'Colours', light: 'Light', dark: 'Dark', auto: 'As the system' },
  shortcuts: {
    label: 'Keyboard shortcuts',
    enabled: 'Single keys are shortcuts',
    enabledHint: 'Turn it off if you control the page by voice',
    key: 'Key',
    action: 'Action',
    help: 'Show the shortcuts',
    palette: 'Find and run any command',
    views: 'Open a view, in the order of the navigation',
    filter: 'Filter the messages',
    pause: 'Pause or resume the messages',
    subscribe: 'New subscription',
    publish: 'Write a message',
    send: 'Publish, from anywhere in the publish panel',
    list: 'In lists: up, down, first, last',
    close: 'Close a dialog or the details',
  },
  storage: {
    unavailable:
      'This browser stores nothing for this page: connections, drafts and messages are gone after a reload.',
    outdated:
      'A newer version of this page is open in another tab. This tab keeps nothing until it is reloaded.',
    full: 'This browser has no room left for this page: new messages are gone after a reload.',
  },
} as const;
