import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { receiver, SIMPLY_OK, status } from '@apus/bridges/testing';
import { connectAsync } from 'mqtt';
import { expect, it, onTestFinished } from 'vitest';
import { clientSuite } from './support/client-suite.ts';

clientSuite('the web client’s view of bridges and rules', (suite) => {
  it('shows their state, lag and errors, and sends dead letters again', async () => {
    const server = await receiver(status(400));
    const { directory } = suite.built;
    const webhook = { url: server.url, allowAddresses: ['127.0.0.1'] };
    const [bridges, rules] = [join(directory, 'bridges.json'), join(directory, 'rules.json')];
    // Nothing listens at port 1.
    const bridge = { name: 'plant', mqtt: { url: 'mqtt://127.0.0.1:1' }, out: [{ filter: 'plant/#' }] };
    await writeFile(bridges, JSON.stringify({ bridges: [bridge] }));
    await writeFile(rules, JSON.stringify({ rules: [{ name: 'alarms', filter: 'hot/#', to: { webhook } }] }));
    const served = await suite.built.serve(['--bridges', bridges, '--rules', rules]);
    onTestFinished(() => served.stop());
    const client = await connectAsync(served.nodeUrl, { protocolVersion: 5 });
    onTestFinished(() => client.endAsync(true));
    await client.publishAsync('hot/a', '1', { qos: 1 });
    await client.publishAsync('plant/a', '1', { qos: 1 });

    const opened = await suite.openUrl(`${served.pageUrl}#/admin`);
    const { page } = opened;
    await page.getByRole('tab', { name: 'Bridges and rules' }).click();
    const plant = page.getByRole('row').filter({ hasText: 'plant' });
    await plant.getByText('failing').waitFor();
    await plant.getByText('ECONNREFUSED').waitFor();
    const alarms = page.getByRole('row').filter({ hasText: 'alarms' });
    await alarms.getByText('failing').waitFor();
    await alarms.getByText('answered 400: no').waitFor();
    expect(await opened.accessibilityProblems()).toEqual([]);
    await opened.screenshot('admin-systems-light');

    server.answer = SIMPLY_OK;
    await alarms.getByRole('button', { name: 'Send again the dead letters of alarms' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send again', exact: true }).click();
    await expect.poll(() => server.payloads()).toEqual(['1']);
    await alarms
      .getByRole('button', { name: 'Send again the dead letters of alarms' })
      .waitFor({ state: 'detached' });
  });
});
