/** Names of tenants stand at the beginning of every key of the table. */
const TENANT = /^[\w.-]{1,64}$/;

export function isTenant(value: unknown): value is string {
  return typeof value === 'string' && TENANT.test(value);
}
