export { Claims, type Home } from './claims.ts';
export { createValkeyStores, type ValkeyStores, type ValkeyStoresOptions } from './create-valkey-stores.ts';
export { Engine, type EngineOptions, type Script } from './engine.ts';
export { EngineError } from './errors.ts';
export { GIVEN_UP } from './journal.ts';
export { LEASE_MS, RENEW_MS } from './limits.ts';
export { Membership, type Reaped } from './membership.ts';
export { ValkeyRetained } from './retained.ts';
export { type RoutesOf, StoredRoutes } from './routes.ts';
