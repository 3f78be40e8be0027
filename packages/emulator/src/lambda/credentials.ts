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

/** Dead environments whose late requests are known, and held. Requests of earlier ones are refused. */
export const DEAD_PRINCIPALS_MAX = 100;

export class Principals {
  readonly #byAccessKeyId = new Map<string, Principal>();
  /** Keys of dead environments, oldest first. */
  readonly #dead: string[] = [];

  add(principal: Principal): void {
    const { accessKeyId } = principal.credentials;
    this.#byAccessKeyId.set(accessKeyId, principal);
    principal.environment?.signal.addEventListener('abort', () => this.#died(accessKeyId), { once: true });
  }

  /** A client whose requests take too long ends environments, one after another [SEC-GROWTH-7]. */
  #died(accessKeyId: string): void {
    this.#dead.push(accessKeyId);
    const [oldest] = this.#dead;
    if (this.#dead.length <= DEAD_PRINCIPALS_MAX || oldest === undefined) return;
    this.#dead.shift();
    this.#byAccessKeyId.delete(oldest);
  }

  find(accessKeyId: string): Principal | undefined {
    return this.#byAccessKeyId.get(accessKeyId);
  }
}
