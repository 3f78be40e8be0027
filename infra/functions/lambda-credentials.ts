import { fromEnv } from '@aws-sdk/credential-provider-env';

/**
 * Replaces `@aws-sdk/credential-provider-node` in the bundles. Lambda puts the role's credentials into the environment.
 * The SDK's chain would find them there too, but it brings clients of three more services, a fifth of the bundle, for
 * places where a function never runs.
 */
export const defaultProvider = fromEnv;
