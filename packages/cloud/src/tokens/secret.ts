import { GetSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';

/** HS256 asks for at least as many bits as its hash has (RFC 7518, section 3.2). */
const SECRET_BYTES_MIN = 32;

/**
 * Reads a secret once, when it is first needed; a failed read is tried again by the next caller. A secret that was
 * rotated is known to environments that start afterwards.
 */
export function secretReader(
  client: Pick<SecretsManagerClient, 'send'>,
  secretId: string,
): () => Promise<Uint8Array> {
  let reading: Promise<Uint8Array> | undefined;
  return async () => {
    reading ??= read(client, secretId);
    try {
      return await reading;
    } catch (error) {
      reading = undefined;
      throw error;
    }
  };
}

async function read(client: Pick<SecretsManagerClient, 'send'>, secretId: string): Promise<Uint8Array> {
  const { SecretString, SecretBinary } = await client.send(new GetSecretValueCommand({ SecretId: secretId }));
  const secret = SecretBinary ?? new TextEncoder().encode(SecretString ?? '');
  if (secret.length < SECRET_BYTES_MIN) {
    throw new Error(
      `the secret ${secretId} is ${secret.length} bytes long; HS256 needs at least ${SECRET_BYTES_MIN}`,
    );
  }
  return secret;
}
