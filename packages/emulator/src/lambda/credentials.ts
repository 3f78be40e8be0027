import type { Random } from '../clock/random.ts';
import { accessKeyId } from '../ids.ts';
import type { ExecutionEnvironment } from './execution-environment.ts';

/** The temporary credentials of a role. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
}

export function createCredentials(random: Random): Credentials {
  return {
    accessKeyId: accessKeyId(random),
    secretAccessKey: random.bytes(30).toString('base64'),
    sessionToken: random.bytes(96).toString('base64'),
  };
}

/** A principal that may sign requests. */
export interface Principal {
  readonly credentials: Credentials;
  /** Absent for a caller outside Lambda, which never freezes. */
  readonly environment?: ExecutionEnvironment;
}

export class Principals {
  readonly #byAccessKeyId = new Map<string, Principal>();

  add(principal: Principal): void {
    this.#byAccessKeyId.set(principal.credentials.accessKeyId, principal);
  }

  find(accessKeyId: string): Principal | undefined {
    return this.#byAccessKeyId.get(accessKeyId);
  }
}
