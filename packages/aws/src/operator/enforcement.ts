import type { Ended } from '@apus/api';
import {
  type Ban,
  type Expulsion,
  expulsionOf,
  type Identity,
  type Log,
  reasonOf,
  type SessionRecord,
} from '@apus/broker';
import { type DynamoSweepScan, isBanOnSession, type SessionName } from '@apus/store-dynamodb';
import type { Environment } from '../environment.ts';
import { inOneEvent } from '../outbox.ts';
import { inLanes } from '../posts/lanes.ts';
import { sessionsOf } from './table-walk.ts';

/** Clients that are expelled side by side: a ban may name a user of 50,000 sessions. */
export const PARALLEL_EXPULSIONS_MAX = 8;

export interface EnforcementOptions {
  /** The environment of this function. */
  readonly environment: Environment;
  readonly scan: DynamoSweepScan;
  readonly log: Log;
}

/** Whether a session has to end; `holder`: the holder of its connection, if it has one. */
export type IsMeant = (session: {
  readonly identity: Identity;
  readonly clientId: string;
  readonly holder: string | undefined;
}) => boolean;

/** How many clients' connections or sessions were ended. Incomplete: of the table, or since some client failed. */
export type Enforced = Required<Ended>;

/** Ends the connection and session of a client, or of all clients that a ban names. */
export class Enforcement {
  readonly #options: EnforcementOptions;

  constructor(options: EnforcementOptions) {
    this.#options = options;
  }

  /** `hasTime` is asked before each round over the table. */
  async of(ban: Ban, hasTime: () => boolean): Promise<Enforced> {
    const isMeant: IsMeant = ({ identity, clientId, holder }) =>
      isBanOnSession(ban, identity, clientId, holder);
    if (ban.as !== 'clientid') return await this.search(isMeant, expulsionOf(ban), hasTime);
    return await this.#expelAll([{ tenant: ban.tenant, clientId: ban.who }], isMeant, expulsionOf(ban));
  }

  /** Walks over the whole table. */
  async search(isMeant: IsMeant, expulsion: Expulsion, hasTime: () => boolean): Promise<Enforced> {
    let expelled = 0;
    let isComplete = true;
    for await (const sessions of sessionsOf(this.#options.scan)) {
      const meant = sessions.filter(
        ({ identity, clientId, holder }) => identity !== undefined && isMeant({ identity, clientId, holder }),
      );
      const round = await this.#expelAll(meant, isMeant, expulsion);
      expelled += round.expelled;
      isComplete &&= round.is_complete;
      if (!hasTime()) return { expelled, is_complete: false };
    }
    return { expelled, is_complete: isComplete };
  }

  /** False: there was nothing to end. Rejects if it is unknown whether the client has been expelled. */
  async expel(
    { tenant, clientId }: SessionName,
    expulsion: Expulsion,
    isMeant?: (record: SessionRecord) => boolean,
  ): Promise<boolean> {
    return await inOneEvent(this.#options.environment, ({ broker }) =>
      broker.expel(tenant, clientId, expulsion, isMeant),
    );
  }

  /** A client that cannot be expelled does not stop the others. */
  async #expelAll(names: readonly SessionName[], isMeant: IsMeant, expulsion: Expulsion): Promise<Enforced> {
    let expelled = 0;
    let failed = 0;
    await inLanes(PARALLEL_EXPULSIONS_MAX, names, async (name) => {
      try {
        const isStillMeant = ({ identity, attachment }: SessionRecord) =>
          isMeant({ identity, clientId: name.clientId, holder: attachment?.holder });
        if (await this.expel(name, expulsion, isStillMeant)) expelled += 1;
      } catch (error) {
        failed += 1;
        this.#options.log.error('expel-failed', { clientId: name.clientId, error: reasonOf(error) });
      }
    });
    return { expelled, is_complete: failed === 0 };
  }
}
