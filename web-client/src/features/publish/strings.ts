/** Words for values that the code names. */
export const publishWords = {
  problems: {
    json: 'This is no JSON: {{problem}}. It is sent as it stands.',
    hex: 'Hexadecimal digits come in pairs, as 0a ff',
    base64: 'This is no base64',
    noText: 'These bytes are not UTF-8 text, so the format stays as it is.',
    topicMissing: 'A topic is needed',
    tooLarge: 'Too large: the server takes a packet of {{max}} at most. Nothing was sent.',
  },
  formats: { json: 'JSON', text: 'Text', hex: 'Hex', base64: 'Base64' },
} as const;
