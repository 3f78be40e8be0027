/**
 * Characters that have no shape of their own: controls, marks that turn the direction of the text, spaces of no width,
 * and spaces that look like another. Variation selectors are left out, since emoji end with them.
 */
const INVISIBLE = /(?! |\p{Variation_Selector})[\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}]/gu;

/** A name in which each invisible character is written as `\u{202e}`, so that no name looks like another. */
export function visibleText(text: string): string {
  return text.replaceAll(INVISIBLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
