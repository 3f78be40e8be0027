/** Words for values that the code names. */
export const presenceWords = { event: { joined: 'came', changed: 'changed', left: 'left' } } as const;
