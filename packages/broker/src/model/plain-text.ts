/** Characters that a terminal obeys, that end a line, or that change the order in which it is read. */
const NOT_PLAIN = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/**
 * One line for people: names of clients contain anything. Each such character stands as in JSON, `\u001b`, so that a
 * line of JSON stays the same value. [SEC-LOG-5]
 */
export function plainText(text: string): string {
  return text.replaceAll(
    NOT_PLAIN,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The same for a text whose lines are its writer's. */
export function plainLines(text: string): string {
  return text.split('\n').map(plainText).join('\n');
}
