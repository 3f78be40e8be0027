/** Words for values that the code names. */
export const transferWords = {
  kinds: { messages: 'Messages', connections: 'Connections' },
  formats: { json: 'JSON', jsonl: 'JSON Lines' },
  problems: {
    tooLarge: 'It has {{mebibytes}} MiB, and at most {{max}} MiB are read.',
    tooManyMessages: 'It holds {{count}} messages, and at most {{max}} are read.',
    tooManyConnections: 'It holds {{count}} connections, and at most {{max}} are read.',
    empty: 'There is nothing in it.',
    unknown: 'It is no file of this client.',
    json: 'It is not JSON: {{detail}}',
    version: 'It was written by a newer version of this client (format version {{version}}).',
    list: 'The list “{{name}}” is missing in it.',
    unreadable: 'The browser could not read it: {{detail}}',
    line: '{{place}} is not JSON: {{detail}}',
    entry: '{{place}} is no message.',
    topic: '{{place}} has a topic that no message can have: {{detail}}',
    qos: '{{place}} has a QoS other than 0, 1 and 2.',
    time: '{{place}} has an invalid time.',
    payload: '{{place}} has no payload that is base64.',
    correlation: '{{place}} has correlation data that is not base64.',
    connection: '{{place}} is no connection: it has no “url”.',
  },
} as const;
