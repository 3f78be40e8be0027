import { parseSigningSecrets, rotateSecrets, secretKeys } from '@apus/identity';
import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  type SecretsManagerClient,
  UpdateSecretVersionStageCommand,
} from '@aws-sdk/client-secrets-manager';

/** Secrets Manager calls a rotation function with this, four times for one rotation. */
export interface RotationEvent {
  readonly Step: string;
  readonly SecretId: string;
  /** The identifier of the version that the rotation makes. */
  readonly ClientRequestToken: string;
}

export interface RotationOptions {
  readonly secrets: Pick<SecretsManagerClient, 'send'>;
  /** @default a random one */
  readonly makeSecret?: () => string;
}

const CURRENT = 'AWSCURRENT';
const PENDING = 'AWSPENDING';

/**
 * Rotates the secret that signs tokens as `apus token rotate` does: a new key signs, the former one is kept for the
 * tokens that it has signed, and the one before it is dropped. Each step may be repeated [SEC-TOKEN-9].
 */
export class Rotation {
  readonly #options: RotationOptions;

  constructor(options: RotationOptions) {
    this.#options = options;
  }

  /** Rejects if a step fails; Secrets Manager then keeps the current version, and tries the rotation again. */
  async handle({ Step, SecretId, ClientRequestToken }: RotationEvent): Promise<void> {
    switch (Step) {
      case 'createSecret':
        return await this.#create(SecretId, ClientRequestToken);
      // The functions of the broker read the list again by themselves.
      case 'setSecret':
        return;
      case 'testSecret':
        return await this.#test(SecretId, ClientRequestToken);
      case 'finishSecret':
        return await this.#finish(SecretId, ClientRequestToken);
      default:
        throw new Error(`Secrets Manager has no step "${Step}"`);
    }
  }

  async #create(secretId: string, version: string): Promise<void> {
    const { VersionIdsToStages = {} } = await this.#describe(secretId);
    // An earlier try has created it: a second list would have another key.
    if (VersionIdsToStages[version]?.some((stage) => stage === PENDING || stage === CURRENT)) {
      if (await this.#has(secretId, version)) return;
    }
    const current = await this.#read({ SecretId: secretId, VersionStage: CURRENT });
    const { text } = rotateSecrets(current, this.#options.makeSecret);
    await this.#options.secrets.send(
      new PutSecretValueCommand({
        SecretId: secretId,
        ClientRequestToken: version,
        SecretString: text,
        VersionStages: [PENDING],
      }),
    );
  }

  /** With a list that the broker could not read, all clients would be refused. */
  async #test(secretId: string, version: string): Promise<void> {
    const pending = await this.#read({ SecretId: secretId, VersionId: version });
    const secrets = parseSigningSecrets(pending);
    secretKeys(secrets);
    if (secrets.length !== 2) throw new Error('the rotated secret is no list of two keys');
  }

  async #finish(secretId: string, version: string): Promise<void> {
    const { VersionIdsToStages = {} } = await this.#describe(secretId);
    const [current] = Object.entries(VersionIdsToStages).find(([, stages]) => stages.includes(CURRENT)) ?? [];
    if (current === version) return;
    await this.#options.secrets.send(
      new UpdateSecretVersionStageCommand({
        SecretId: secretId,
        VersionStage: CURRENT,
        MoveToVersionId: version,
        RemoveFromVersionId: current,
      }),
    );
  }

  /** Secrets Manager stages a version before it has a value. */
  async #has(secretId: string, version: string): Promise<boolean> {
    return await this.#read({ SecretId: secretId, VersionId: version }).then(
      () => true,
      (error: Error) => {
        if (error.name === 'ResourceNotFoundException') return false;
        throw error;
      },
    );
  }

  async #describe(secretId: string) {
    return await this.#options.secrets.send(new DescribeSecretCommand({ SecretId: secretId }));
  }

  async #read(which: { SecretId: string; VersionStage?: string; VersionId?: string }): Promise<string> {
    const { SecretString } = await this.#options.secrets.send(new GetSecretValueCommand(which));
    if (SecretString !== undefined) return SecretString;
    throw new Error(`the secret ${which.SecretId} is no text`);
  }
}
