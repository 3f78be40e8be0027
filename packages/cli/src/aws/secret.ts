/*
 * Secrets of AWS Secrets Manager, by name or ARN. The SDK is loaded only for this, and is not part of the command's own
 * file.
 */

export async function readSecret(id: string, region?: string): Promise<string> {
  const { GetSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
  const client = new SecretsManagerClient(region === undefined ? {} : { region });
  try {
    const { SecretString = '' } = await client.send(new GetSecretValueCommand({ SecretId: id }));
    return SecretString;
  } finally {
    client.destroy();
  }
}

export async function writeSecret(id: string, text: string, region?: string): Promise<void> {
  const { PutSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
  const client = new SecretsManagerClient(region === undefined ? {} : { region });
  try {
    await client.send(new PutSecretValueCommand({ SecretId: id, SecretString: text }));
  } finally {
    client.destroy();
  }
}
