/** Names of tenants stand at the beginning of every key of the table. */
const TENANT = /^[\w.-]{1,64}$/;

/** The tenant of an identity that was given no other. */
export const DEFAULT_TENANT = 'default';

export function isTenant(value: unknown): value is string {
  return typeof value === 'string' && TENANT.test(value);
}
