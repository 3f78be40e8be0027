import type { DeadLetter, DeadLetters } from '../bridges/bridges.ts';
import { type ApiAnswer, refusal } from './answer.ts';
import { type ApiContext, rfc3339 } from './context.ts';
import { isAnswer, pageAnswer, pagingOf } from './paging.ts';
import type { Handlers } from './router.ts';
import { type Asked, mergedLists, ofOne, ofProcess } from './shared-handlers.ts';

/** Dead letters that one request sends again. */
const SENT_MAX = 1_000;

/** Rules: what they have sent, and the messages that they have given up. */
export function ruleHandlers(context: ApiContext) {
  const { rules } = context;
  const lettersOf = ({ tenant, parameters: { name = '' } }: Asked) => rules()?.deadLetters(tenant, name);
  const withLetters = (handle: (letters: DeadLetters, asked: Asked) => Promise<ApiAnswer>) =>
    ofOne((asked) => {
      const letters = lettersOf(asked);
      return letters === undefined
        ? refusal(404, 'NOT_FOUND', `There is no rule "${asked.parameters.name}".`)
        : handle(letters, asked);
    });
  const withLetter = (handle: (letters: DeadLetters, letter: DeadLetter) => Promise<ApiAnswer>) =>
    withLetters(async (letters, { parameters: { id = '' } }) => {
      const letter = await letters.get(id);
      if (letter === undefined) return refusal(404, 'NOT_FOUND', `There is no dead letter "${id}".`);
      return await handle(letters, letter);
    });
  return {
    listRules: ofProcess(({ tenant }) => ({ data: rules()?.list(tenant) ?? [] }), mergedLists),
    listDeadLetters: withLetters(list),
    sendDeadLetters: withLetters((letters) => sendAll(letters)),
    discardDeadLetters: withLetters((letters) => discardAll(letters)),
    getDeadLetter: withLetter((_letters, letter) => one(letter)),
    sendDeadLetter: withLetter(send),
    discardDeadLetter: withLetter(discard),
  } satisfies Partial<Handlers>;
}

async function list(letters: DeadLetters, { query }: Asked): Promise<ApiAnswer> {
  const paging = pagingOf(query);
  if (isAnswer(paging)) return paging;
  const first = paging.from;
  const entries: object[] = [];
  let count = 0;
  for await (const letter of letters.all()) {
    if (count >= first && entries.length < paging.limit) entries.push(describe(letter));
    count += 1;
  }
  return pageAnswer(entries, paging, count);
}

async function one(letter: DeadLetter): Promise<ApiAnswer> {
  const { payload, properties, retain } = letter.message;
  const body = {
    ...describe(letter),
    retain,
    user_properties: properties.userProperties ?? [],
    payload: Buffer.from(payload).toString('base64'),
  };
  return { status: 200, body };
}

async function send(letters: DeadLetters, letter: DeadLetter): Promise<ApiAnswer> {
  const error = await letters.send(letter);
  if (error === undefined) return { status: 200, body: { sent: 1, failed: 0 } };
  return refusal(502, 'NOT_SENT', error);
}

/** Sends them in order, up to the first that fails: later ones may be of the same topic. */
async function sendAll(letters: DeadLetters): Promise<ApiAnswer> {
  let sent = 0;
  for await (const letter of letters.all()) {
    if (sent === SENT_MAX) break;
    const error = await letters.send(letter);
    if (error !== undefined) return { status: 200, body: { sent, failed: 1, error } };
    sent += 1;
  }
  return { status: 200, body: { sent, failed: 0 } };
}

async function discard(letters: DeadLetters, letter: DeadLetter): Promise<ApiAnswer> {
  await letters.discard(letter);
  return { status: 204 };
}

async function discardAll(letters: DeadLetters): Promise<ApiAnswer> {
  for await (const letter of letters.all()) await letters.discard(letter);
  return { status: 204 };
}

function describe({ message, error, attempts, failedAtMs }: DeadLetter): object {
  const { id, topic, qos, payload } = message;
  return { id, topic, qos, payload_bytes: payload.length, error, attempts, failed_at: rfc3339(failedAtMs) };
}
