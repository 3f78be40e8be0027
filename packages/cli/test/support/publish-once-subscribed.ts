import { RawClient } from '../../../../test/support/raw-client.ts';

/** Publishes until PUBACK reports a subscriber; only that message was delivered. */
export async function publishOnceSubscribed(url: string, topic: string): Promise<void> {
  const { client } = await RawClient.connect(url);
  for (let reasonCode: unknown = 0x10; reasonCode === 0x10; ) {
    client.send({ cmd: 'publish', topic, payload: '', qos: 1, messageId: 1 });
    reasonCode = (await client.expect('puback')).reasonCode;
  }
}
