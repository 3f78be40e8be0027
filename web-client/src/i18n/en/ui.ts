/** Small components that several views share. */
export const ui = {
  name: 'Name',
  value: 'Value',
  propertyName: 'Name of property {{number}}',
  propertyValue: 'Value of property {{number}}',
  removeProperty: 'Remove property {{number}}',
  addProperty: 'Add a property',
  packetCaption: '{{name}}, {{size}}',
  place: '{{offset}} +{{length}}',
  bytes: 'Bytes',
  copyHex: 'Copy the bytes in hexadecimal',
  moreFields_one: '{{count}} more field is not shown',
  moreFields_other: '{{count}} more fields are not shown',
  moreBytes: '{{size}} more are not shown; copying takes all.',
} as const;
