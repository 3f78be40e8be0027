/** Levels of objects and lists. Code that walks a value needs stack for each, which some thousand exhaust. */
export const JSON_DEPTH_MAX = 100;

/**
 * A value in JSON that a client or a server of others has written. [SEC-WORK-4]
 *
 * @throws {SyntaxError} where it is no JSON, or has more levels than `JSON_DEPTH_MAX`
 */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) throw new SyntaxError(`it has more than ${JSON_DEPTH_MAX} levels`);
  return JSON.parse(text);
}

/** Of text that is no JSON the parser says what is wrong. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (isInString) {
      if (character === '\\') at += 1;
      else if (character === '"') isInString = false;
    } else if (character === '"') isInString = true;
    else if (character === '[' || character === '{') depth += 1;
    else if (character === ']' || character === '}') depth -= 1;
    if (depth > JSON_DEPTH_MAX) return true;
  }
  return false;
}
