import { connectAsync, type MqttClient } from 'mqtt';
import { expect, it, onTestFinished } from 'vitest';
import type { ClientPage } from './support/client-page.ts';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';

/** Publishes at QoS 1 as fast as the broker acknowledges, and resolves when it has acknowledged all. */
async function publishAll(client: MqttClient, topic: string, count: number): Promise<void> {
  const publishes: Promise<unknown>[] = [];
  for (let index = 0; index < count; index += 1)
    publishes.push(client.publishAsync(topic, `{"number":${index}}`, { qos: 1 }));
  await Promise.all(publishes);
}

clientSuite('what is missing in the web client', (suite) => {
  const marks = (client: ClientPage, kind: string) => client.page.locator(`[data-mark="${kind}"]`);
  const numbersIn = (texts: readonly string[]): number =>
    texts.reduce((sum, text) => sum + Number(/([\d,]+) messages? /.exec(text)?.[1]?.replaceAll(',', '')), 0);

  it('says how many messages the broker has dropped, at the place where they are missing, to the last one', async () => {
    const COUNT = 4_000;
    // A queue this short overflows, however fast the page reads.
    const served = await suite.built.serve(['--queue-length-max', '5', '--inflight-messages-max', '5']);
    onTestFinished(() => served.stop());
    const client = await suite.openUrl(`${served.pageUrl}#/messages`);
    await client.connected();
    await client.subscribe('#');
    const publisher = await connectAsync(served.nodeUrl, { protocolVersion: 5 });
    onTestFinished(() => publisher.endAsync());
    await publishAll(publisher, 'flood/one', COUNT);
    const received = async (): Promise<number> =>
      Number((await client.page.getByTestId('message-count').textContent())?.replaceAll(/\D/g, ''));
    const lost = client.page.getByTestId('lost');
    await lost.waitFor();
    await eventually(async () => (await received()) + numbersIn(await lost.allTextContents())).toBe(COUNT);
    const advice =
      /The broker dropped [\d,]+ messages? for this client: read faster, use QoS 0, or raise --queue-length-max/;
    await marks(client, 'dropped').filter({ hasText: advice }).first().waitFor();
    // The API reports the same number.
    const metrics = (await (await fetch(new URL('/api/v5/metrics', served.pageUrl))).json()) as [
      Record<string, number>,
    ];
    expect((await received()) + (metrics[0]['delivery.dropped.queue_full'] ?? 0)).toBe(COUNT);
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('losses-dropped-light');
    // Notices do not count as messages.
    await eventually(() => client.topics()).not.toContain('$SYS/session/dropped');
  });

  it('says how long it was offline, and whether its session was resumed', async () => {
    const client = await suite.openConnected('messages');
    await client.subscribe('away/#');
    await suite.other.publishAsync('away/one', 'before');
    await client.rows('away/one', 'before').waitFor();
    await client.page.getByRole('button', { name: 'Disconnect' }).click();
    await client.page.getByRole('button', { name: 'Connect', exact: true }).click();
    await client.connected();
    await marks(client, 'away')
      .filter({ hasText: /Away for [\d.]+ s, a new session: what came meanwhile is missing/ })
      .waitFor();
    await eventually(() => client.subscription('away/#').textContent()).toMatch(/QoS \d/);
    await suite.other.publishAsync('away/one', 'after');
    await client.rows('away/one', 'after').waitFor();
    const kinds = await client.page
      .getByRole('grid', { name: 'Messages, newest first' })
      .locator('[aria-selected], [data-mark]')
      .evaluateAll((rows) =>
        rows.map((row) => (row as { dataset: { mark?: string } }).dataset.mark ?? 'message'),
      );
    expect(kinds).toEqual(['message', 'away', 'message']);
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('losses-away-light');
  });
});
