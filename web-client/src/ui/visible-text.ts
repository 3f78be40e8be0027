/**
 * Characters that have no shape of their own: controls, marks that turn the direction of the text, spaces of no width,
 * and spaces that look like another. Variation selectors are left out, since emoji end with them. Marks that pile up on
 * eight others hide what is above, and take a browser long to draw.
 */
const INVISIBLE =
  /(?! |\p{Variation_Selector})[\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}]|(?<=\p{M}{8})\p{M}/gu;

/** Most texts have printable characters of ASCII alone, which is looked up a hundred times faster. */
const PLAIN = /^[ -~]*$/;

/** A name in which each invisible character is written as `\u{202e}`, so that no name looks like another. */
export function visibleText(text: string): string {
  return PLAIN.test(text) ? text : text.replaceAll(INVISIBLE, escaped);
}

/** Those of a payload, which may be of several lines, and in a language that is written with wide spaces. */
const HIDDEN =
  /(?![\t\n\r]|\p{Variation_Selector})[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029]|(?<=\p{M}{8})\p{M}/gu;

/** A payload in which each character that cannot be seen is written as `\u{202e}`. */
export function visibleLines(text: string): string {
  return text.replaceAll(HIDDEN, escaped);
}

function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}
