/** Names of tenants are the beginning of every key of the table. */
const TENANT = /^[\w.-]{1,64}$/;

/** The tenant of an identity without one. */
export const DEFAULT_TENANT = 'default';

export function isTenant(value: unknown): value is string {
  return typeof value === 'string' && TENANT.test(value);
}
