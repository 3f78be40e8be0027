/* Secrets of AWS Secrets Manager, by name or ARN. The SDK is loaded only for this. */

import { installed } from '@apus/door';

export async function readSecret(id: string, region?: string): Promise<string> {
  const { GetSecretValueCommand, SecretsManagerClient } = await installed(
    import('@aws-sdk/client-secrets-manager'),
  );
  const client = new SecretsManagerClient(region === undefined ? {} : { region });
  try {
    const { SecretString = '' } = await client.send(new GetSecretValueCommand({ SecretId: id }));
    return SecretString;
  } finally {
    client.destroy();
  }
}

export async function writeSecret(id: string, text: string, region?: string): Promise<void> {
  const { PutSecretValueCommand, SecretsManagerClient } = await installed(
    import('@aws-sdk/client-secrets-manager'),
  );
  const client = new SecretsManagerClient(region === undefined ? {} : { region });
  try {
    await client.send(new PutSecretValueCommand({ SecretId: id, SecretString: text }));
  } finally {
    client.destroy();
  }
}
