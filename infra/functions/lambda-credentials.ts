import { fromEnv } from '@aws-sdk/credential-provider-env';

/**
 * Stands in for `@aws-sdk/credential-provider-node` in the bundles. Lambda puts the role's credentials into the
 * environment; the chain that would look for them there first brings clients of three more services with it, a fifth
 * of the bundle, for places where a function never is.
 */
export const defaultProvider = fromEnv;
