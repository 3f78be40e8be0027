import { expect, it } from 'vitest';
import { invoke, physicalIdOf, until } from '../support/aws.ts';
import { closeCodeOf, openSocket } from '../support/socket.ts';
import { tokenFor } from '../support/token.ts';

it('a connection that never sends CONNECT is cut by the sweep', async () => {
  const handshake = await openSocket(await tokenFor('silent'), ['mqtt-text-v1']);
  if (!('socket' in handshake)) throw new Error(`refused with ${handshake.status}`);
  const { socket } = handshake;
  const closed = closeCodeOf(socket);
  const sweep = await physicalIdOf('BrokerSweep', 'AWS::Lambda::Function');
  await until(
    () => invoke(sweep, {}),
    () => socket.readyState !== socket.OPEN,
  );
  expect(await closed).toBe(1000);
});
