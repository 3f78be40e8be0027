import { ALIVE_FRAME } from '@apus/aws';
import { hold } from './hold.ts';
import { differs, notTried, type ProbeContext, type ProbeItem, passed } from './item.ts';
import { ProbeClient } from './probe-client.ts';

const FRAMES = 20;
const PING_ANSWERS = 1;
/** The probe waits this long for an answer that may be on its way. */
const WAIT_MS = 2_000;

/** Slightly longer than API Gateway's idle timeout, with a sign of life in the middle. */
const IDLE_SECONDS = 660;
const BEAT_SECONDS = 330;

const NOT_TAKEN = notTried('the deployment takes no signs of life.');
const WITHOUT = 'set --without-extensions alive';

/** A sign of life selects a one-way route with a MOCK integration. */
export const alive: ProbeItem = {
  name: 'alive',
  summary: 'a frame to the one-way route is not answered',
  billedMessages: FRAMES + 6,
  seconds: 3,
  run: async (context) => {
    const client = await connect(context);
    try {
      if (!client.takes('alive')) return NOT_TAKEN;
      const before = client.messages.length;
      for (let index = 0; index < FRAMES; index += 1) client.sendText(ALIVE_FRAME);
      await context.sleep(WAIT_MS);
      await client.exchange({ type: 'pingreq' });
      const unasked = client.messages.slice(before, -PING_ANSWERS);
      if (unasked.length === 0)
        return passed(`none of ${FRAMES} signs of life was answered, and the connection goes on.`);
      return differs(
        `${unasked.length} of ${FRAMES} were answered (${unasked[0]?.slice(0, 80)}): ${WITHOUT}.`,
      );
    } finally {
      await client.end();
    }
  },
};

/** The transport sends nothing else for up to 36 minutes. */
export const aliveIdle: ProbeItem = {
  name: 'alive-idle',
  summary: 'a frame to the one-way route keeps an idle connection open',
  billedMessages: 6,
  seconds: undefined,
  run: async (context) => {
    const client = await connect(context);
    const isTaken = client.takes('alive');
    const beat = async (each: ProbeClient) => each.sendText(ALIVE_FRAME);
    const cuts = isTaken ? await hold(context, [client], IDLE_SECONDS, BEAT_SECONDS, beat) : [];
    await client.end();
    const [cut] = cuts;
    if (!isTaken) return NOT_TAKEN;
    if (cut !== undefined) return differs(`the connection was cut all the same, ${cut}: ${WITHOUT}.`);
    return passed(`with a sign of life in between it was still open after ${IDLE_SECONDS / 60} minutes.`);
  },
};

async function connect(context: ProbeContext): Promise<ProbeClient> {
  return await ProbeClient.connect(context, 'alive', { offers: 'alive' });
}
