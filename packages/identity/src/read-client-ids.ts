import { CLIENT_ID_PATTERN_LENGTH_MAX, CLIENT_ID_PATTERNS_MAX } from '@apus/broker';

/**
 * Reads patterns of client identifiers (`Identity.clientIds`); returns a sentence with the error and its place
 * otherwise. `name` is the name of the field.
 */
export function readClientIds(value: unknown, name: string): readonly string[] | string {
  // With an empty list no client could connect.
  if (!Array.isArray(value) || value.length === 0 || value.length > CLIENT_ID_PATTERNS_MAX)
    return `${name} has to be a list of 1 to ${CLIENT_ID_PATTERNS_MAX} patterns of client identifiers.`;
  const wrong = value.findIndex((pattern) => !isPattern(pattern));
  if (wrong === -1) return value;
  return `${name}[${wrong}] has to be a string of 1 to ${CLIENT_ID_PATTERN_LENGTH_MAX} characters; %u and + stand for others, %c does not.`;
}

function isPattern(value: unknown): boolean {
  if (typeof value !== 'string' || value === '' || value.length > CLIENT_ID_PATTERN_LENGTH_MAX) return false;
  return !value.includes('%c') && !value.includes('\0');
}
