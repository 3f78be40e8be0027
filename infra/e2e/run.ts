import { startMinistack } from './ministack.ts';

const m = await startMinistack();
console.log(m.endpoint);
process.on('SIGINT', async () => {
  await m.stop();
  process.exit(0);
});
setInterval(() => {}, 1000);
