import { describe } from 'vitest';
import { queueAnswersContract } from './queue-answers.ts';
import { queueEndContract } from './queue-end.ts';
import { queueLimitsContract } from './queue-limits.ts';
import { queueOfferContract } from './queue-offer.ts';
import { queueRepeatContract } from './queue-repeat.ts';
import { queueResendContract } from './queue-resend.ts';
import { queueWalkContract } from './queue-walk.ts';
import { queueWindowContract } from './queue-window.ts';
import type { MakeStores } from './support.ts';

/** The contract of every `QueueStore`. */
export function queueStoreContract(name: string, makeStores: MakeStores): void {
  describe(`${name}: QueueStore`, () => {
    queueOfferContract(makeStores);
    queueWindowContract(makeStores);
    queueAnswersContract(makeStores);
    queueLimitsContract(makeStores);
    queueResendContract(makeStores);
    queueRepeatContract(makeStores);
    queueEndContract(makeStores);
    queueWalkContract(makeStores);
  });
}
