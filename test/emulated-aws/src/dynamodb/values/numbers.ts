import { Big } from 'big.js';
import { validationError } from '../errors.ts';

/** Digits of a number, without its leading and trailing zeroes. */
const SIGNIFICANT_DIGITS_MAX = 38;
/** Magnitudes from 1E-130 to 9.99…E+125. */
const EXPONENT_MAX = 125;
const EXPONENT_MIN = -130;

/** Numbers that JavaScript holds exactly, in the form in which DynamoDB returns them. */
const PLAIN_INTEGER = /^(?:0|-?[1-9]\d{0,14})$/;

/** The number as DynamoDB stores and returns it: no exponent, no needless zeroes. Throws a ValidationException. */
export function canonicalNumber(text: string): string {
  return PLAIN_INTEGER.test(text) ? text : canonicalDecimal(parse(text));
}

/** The sum, or with `sign` -1 the difference. Throws a ValidationException when it has too many digits. */
export function addNumbers(left: string, right: string, sign: 1 | -1): string {
  return canonicalDecimal(sign === 1 ? new Big(left).plus(right) : new Big(left).minus(right));
}

/** Below 0, 0 or above 0, as `left` is less than, equal to or greater than `right`. Both are canonical. */
export function compareNumbers(left: string, right: string): number {
  if (left === right) return 0;
  if (PLAIN_INTEGER.test(left) && PLAIN_INTEGER.test(right)) return Number(left) - Number(right);
  return new Big(left).cmp(right);
}

/**
 * Bytes of a canonical number: one for each pair of digits, counted from the decimal point, without zeroes at both
 * ends; one more; and one for a minus. The documentation only says "approximately"; the rule comes from others'
 * measurements.
 */
export function numberBytes(text: string): number {
  const { c: digits, e: exponent, s: sign } = new Big(text);
  if (digits.length === 1 && digits[0] === 0) return 1;
  const isFirstPairFull = Math.abs(exponent) % 2 === 1;
  const pairs = Math.ceil((digits.length + (isFirstPairFull ? 0 : 1)) / 2);
  return pairs + 1 + (sign < 0 ? 1 : 0);
}

function parse(text: string): Big {
  if (text === '') throw validationError('The parameter cannot be converted to a numeric value');
  try {
    return new Big(text);
  } catch {
    throw validationError(`The parameter cannot be converted to a numeric value: ${text}`);
  }
}

function canonicalDecimal(number: Big): string {
  const { c: digits, e: exponent } = number;
  if (digits.length === 1 && digits[0] === 0) return '0';
  if (exponent > EXPONENT_MAX) throw outOfRange('overflow', 'larger');
  if (exponent < EXPONENT_MIN) throw outOfRange('underflow', 'smaller');
  if (digits.length > SIGNIFICANT_DIGITS_MAX) {
    throw validationError(
      `Attempting to store more than ${SIGNIFICANT_DIGITS_MAX} significant digits in a Number`,
    );
  }
  return number.toFixed();
}

function outOfRange(what: string, compared: string) {
  return validationError(
    `Number ${what}. Attempting to store a number with magnitude ${compared} than supported range`,
  );
}
