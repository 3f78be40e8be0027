/** A mistake in rules, and its place. It does not leave this folder: readers return its sentence. */
export class InvalidRules extends Error {
  override readonly name = 'InvalidRules';
}
