/** A mistake in rules, and its place. It does not leave this folder: readers answer its sentence. */
export class InvalidRules extends Error {
  override readonly name = 'InvalidRules';
}
