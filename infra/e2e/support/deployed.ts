/** The environment variables that describe the deployment to the tests. */
export const E2E_VARIABLES = {
  url: 'APUS_E2E_URL',
  /** Signs tokens. */
  secret: 'APUS_E2E_SECRET',
  stackName: 'APUS_E2E_STACK_NAME',
  breakerName: 'APUS_E2E_BREAKER_NAME',
  tokenSecretArn: 'APUS_E2E_TOKEN_SECRET_ARN',
  /** Where backends publish. */
  publishUrl: 'APUS_E2E_PUBLISH_URL',
  publishKey: 'APUS_E2E_PUBLISH_KEY',
  /** Where operators find the HTTP API. */
  apiUrl: 'APUS_E2E_API_URL',
} as const;

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: these tests are run by npm run test:e2e`);
  return value;
}

/** The deployed broker under test. */
export const deployed = {
  get url(): string {
    return required(E2E_VARIABLES.url);
  },
  get secret(): Uint8Array {
    return new TextEncoder().encode(required(E2E_VARIABLES.secret));
  },
  get stackName(): string {
    return required(E2E_VARIABLES.stackName);
  },
  get breakerName(): string {
    return required(E2E_VARIABLES.breakerName);
  },
  get tokenSecretArn(): string {
    return required(E2E_VARIABLES.tokenSecretArn);
  },
  get publishUrl(): string {
    return required(E2E_VARIABLES.publishUrl);
  },
  get apiUrl(): string {
    return required(E2E_VARIABLES.apiUrl);
  },
  get publishKey(): string {
    return required(E2E_VARIABLES.publishKey);
  },
};
