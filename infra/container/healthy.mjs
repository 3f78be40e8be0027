// Exits with 0 while the broker of this container accepts clients, and with 1 otherwise, also while it stops. Set
// `APUS_URL` if the broker uses another port than the default of `apus serve`.
const ANSWER_MS_MAX = 3_000;
const url = new URL('/healthz', process.env.APUS_URL ?? 'http://127.0.0.1:8083');

try {
  const { ok, status } = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
  if (!ok) console.error(`${url} answers ${status}.`);
  process.exitCode = ok ? 0 : 1;
} catch (error) {
  console.error(`${url} does not answer: ${error.cause?.message ?? error.message}`);
  process.exitCode = 1;
}
