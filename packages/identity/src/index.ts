export { addressGroup, ipOf } from './address-group.ts';
export type { Answer } from './answer.ts';
export {
  type ApiKey,
  findApiKey,
  KEY_LENGTH_MIN,
  nameOfKey,
  parseApiKeys,
  shownKey,
} from './api-keys/api-key.ts';
export { type ApiKeySource, FixedApiKeys, StoredApiKeys } from './api-keys/api-key-source.ts';
export { type BanEntry, BanEntryError, banEntryOf, readBan, readBanName } from './bans/ban-entry.ts';
export { peerHostOf } from './bans/peer-host.ts';
export { Chain } from './chain.ts';
export { changeUsersFile, usersInFile } from './change-users-file.ts';
export { createAuthorizer, readAuthorization } from './configuration/authorization.ts';
export {
  apiKeySources,
  checkCookieOrigins,
  createChain,
  type IdentityConfiguration,
  parseIdentity,
  readIdentity,
  takesTokens,
} from './configuration/configuration.ts';
export { Fields } from './configuration/fields.ts';
export type { IamConfiguration } from './configuration/iam.ts';
export type { ChainContext, HookContext, UsersOwner } from './configuration/kind.ts';
export { ConfigurationError } from './configuration-error.ts';
export { Crowd } from './crowd.ts';
export { FairQueue } from './fair-queue.ts';
export { type ForeignHash, isForeignDigest } from './foreign-hash.ts';
export { GuessLimiter } from './guess-limiter.ts';
export { handshakeAuthenticator } from './handshake-identity.ts';
export {
  type HandshakeRefused,
  type HandshakeRequest,
  Handshakes,
  type HandshakeTaken,
} from './handshakes.ts';
export * from './hook/index.ts';
export { JwtAuthenticator } from './jwt/jwt-authenticator.ts';
export { FixedKeys } from './jwt/key-ring.ts';
export { type MintOptions, mintToken } from './jwt/mint-token.ts';
export { finishRotation, kidOf, type Rotation, rotateSecrets } from './jwt/rotate-secrets.ts';
export { parseSigningSecrets, type SigningSecret, secretKeys, storedSecrets } from './jwt/signing-secrets.ts';
export { secretKey } from './jwt/verification-key.ts';
export { LeakyCounts } from './leaky-counts.ts';
export { hashPassword, isPassword, parsePasswordHash, wrapForeignHash } from './password-hash.ts';
export { readClientIds } from './read-client-ids.ts';
export { Refreshed } from './refreshed.ts';
export { readIfThere, replaceFile } from './replace-file.ts';
export * from './rules/limits.ts';
export { readRules } from './rules/read-rules.ts';
export type { ReadUser } from './stored-users.ts';
export { DEFAULT_TENANT, isTenant } from './tenant.ts';
export { KnownTenants, type ReadTenant } from './tenants/known-tenants.ts';
export {
  parseTenant,
  readTenantEntry,
  TENANT_KEYS_MAX,
  TENANT_STATES,
  type TenantEntry,
} from './tenants/tenant-entry.ts';
export {
  type TenantClients,
  TenantRegister,
  type TenantStore,
  type TenantsPage,
} from './tenants/tenant-register.ts';
export { type TokenCheck, tokenMethods } from './token-methods.ts';
export { PASSWORD_BYTES_MAX, UsersAuthenticator } from './users-authenticator.ts';
export {
  parseUsers,
  readUsersFile,
  type User,
  type UserEntry,
  type UserLookup,
  type Users,
} from './users-file.ts';
export { WatchedUsersFile } from './watched-users-file.ts';
