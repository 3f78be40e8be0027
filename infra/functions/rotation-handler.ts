import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { Rotation, type RotationEvent } from './rotation.ts';

const rotation = new Rotation({ secrets: new SecretsManagerClient({}) });

export function handler(event: RotationEvent): Promise<void> {
  return rotation.handle(event);
}
