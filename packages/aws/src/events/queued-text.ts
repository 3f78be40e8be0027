export type Fields = Readonly<Record<string, unknown>>;

/** A text of a version that this code does not know: it stays in its queue, for the code that knows it. */
export const NEWER = 'newer';
export type Newer = typeof NEWER;

/** SQS takes only characters that XML allows. Of those that MQTT and JSON allow, it refuses these. */
const NOT_XML = /[\ufffe\uffff]/g;

/**
 * The text of a message in a queue of ours, with the version of its layout. Another layout has to read texts of the
 * versions before, which wait in the queue during a deployment.
 */
export function encodeQueued(version: number, fields: Fields): string {
  return xmlJson({ v: version, ...fields });
}

/** JSON in which escapes stand for the characters that XML forbids. */
export function xmlJson(fields: Fields): string {
  return JSON.stringify(fields).replaceAll(NOT_XML, (each) => `\\u${each.charCodeAt(0).toString(16)}`);
}

/** Undefined: the text has no layout of ours. A retry would not change that. */
export function decodeQueued(version: number, body: string): Fields | Newer | undefined {
  const fields = parse(body);
  if (typeof fields?.v !== 'number' || fields.v < version) return undefined;
  return fields.v > version ? NEWER : fields;
}

function parse(body: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
