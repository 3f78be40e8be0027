/** The shell. */
export const app = {
  name: 'Apus',
  openNavigation: 'Open the navigation',
  closeNavigation: 'Close the navigation',
  navigation: 'Views',
  connections: 'Connections',
  skip: 'Skip to the content',
  loading: 'Loading …',
  copy: 'Copy',
  copied: 'Copied',
  broken: 'This view has failed',
  brokenAgain: 'Open it again',
  views: {
    start: 'Start',
    messages: 'Messages',
    packets: 'Packets',
    connection: 'Connection',
  },
  theme: {
    label: 'Colours',
    light: 'Light',
    dark: 'Dark',
    auto: 'As the system',
  },
} as const;
