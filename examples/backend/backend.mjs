// A backend that publishes over HTTPS, without an MQTT client: prices that walk at random, four times a second.
import { createPublisher } from '@apus/publish';

const SYMBOLS = ['AMBER', 'BASALT', 'COBALT', 'DIORITE', 'EMERALD', 'FLINT'];
const EVERY_MS = 250;

const url = process.env.APUS_URL ?? 'http://127.0.0.1:8083';
const apus = createPublisher({ url, key: process.env.APUS_KEY });
const prices = new Map(SYMBOLS.map((symbol, index) => [symbol, 20 * (index + 1)]));

/** One request carries all messages of a turn. */
async function publishTurn() {
  const messages = [...prices].map(([symbol, before]) => {
    const change = (Math.random() - 0.5) * before * 0.01;
    const price = before + change;
    prices.set(symbol, price);
    return { topic: `prices/${symbol}`, payload: JSON.stringify({ price, change }), qos: 1 };
  });
  await apus.publishAll(messages);
}

let isEnding = false;
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => (isEnding = true));

console.log(`Publishing ${SYMBOLS.length} prices to ${url}, ${1_000 / EVERY_MS} times a second.`);
let wasReached = true;
while (!isEnding) {
  const isReached = await publishTurn().then(
    () => true,
    (error) => {
      // Logged once for each outage of the broker.
      if (wasReached) console.error(`Not published: ${error.message}`);
      return false;
    },
  );
  if (isReached && !wasReached) console.log('Publishing again.');
  wasReached = isReached;
  await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
}
