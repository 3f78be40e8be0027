import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';

/** Reads secrets of AWS Secrets Manager, by their ARN. The client is made when the first is read. */
export function secretReader(
  makeClient: () => Pick<SecretsManagerClient, 'send'> = () => new SecretsManagerClient({}),
): (secretId: string) => Promise<string> {
  let client: Pick<SecretsManagerClient, 'send'> | undefined;
  return async (secretId) => {
    client ??= makeClient();
    const { SecretString, SecretBinary } = await client.send(
      new GetSecretValueCommand({ SecretId: secretId }),
    );
    return SecretString ?? textOf(SecretBinary, secretId);
  };
}

function textOf(bytes: Uint8Array | undefined, secretId: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new Error(`the secret ${secretId} is no text in UTF-8`, { cause: error });
  }
}
