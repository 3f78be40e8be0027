let whole: Intl.NumberFormat | undefined;
let ofTwoDigits: Intl.NumberFormat | undefined;

/**
 * The number as English writes it.
 *
 * To make a format takes as long as to format hundreds of numbers, and a comparison makes thousands of estimates. The
 * first format also loads 4 MB of tables, so none is made before it is needed.
 */
export function inEnglish(value: number): string {
  whole ??= new Intl.NumberFormat('en');
  return whole.format(value);
}

/** The same with at most two decimals. */
export function inEnglishOfTwoDigits(value: number): string {
  ofTwoDigits ??= new Intl.NumberFormat('en', { maximumFractionDigits: 2 });
  return ofTwoDigits.format(value);
}
