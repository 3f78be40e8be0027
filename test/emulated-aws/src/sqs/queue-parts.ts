import type { Clock, Dice, Random } from '@apus/emulator/service';
import type { SqsFaults } from './faults.ts';
import type { SqsLimits } from './limits.ts';
import type { Queue } from './queue.ts';
import type { QueueSettings } from './queue-options.ts';
import type { Throughput } from './throughput.ts';

export interface QueueParts {
  readonly settings: QueueSettings;
  readonly arn: string;
  readonly url: string;
  readonly createdAtMs: number;
  readonly deadLetterQueue: Queue | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly dice: Dice<string>;
  readonly faults: SqsFaults;
  readonly limits: SqsLimits;
  readonly throughput: Throughput;
  /** Runs something a few turns of the event loop later. */
  readonly soon: (run: () => void) => void;
}
