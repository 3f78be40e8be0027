import { createSqs, ManualClock } from '../../src/index.ts';
import { defineSqsContract } from './contract.ts';
import { sqsClient } from './support.ts';

const clock = new ManualClock();
const sqs = createSqs({ clock, seed: 1 });

defineSqsContract({
  client: sqsClient(sqs),
  async passSeconds(seconds) {
    // A long poll that is on its way should wait when time begins to pass.
    await sqs.quiet();
    await clock.advance(seconds * 1000);
  },
});
