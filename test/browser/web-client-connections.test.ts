import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import type { Locator, Request } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/free-port.ts';
import type { ClientPage } from './support/client-page.ts';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';
import type { Served } from './support/served-client.ts';

const PASSWORD = 'correct horse';

clientSuite('connections in the web client', (suite) => {
  /** A broker that admits only Ada, and only to her own topics. */
  let guarded: Served;

  beforeAll(async () => {
    guarded = await suite.built.serve(['--users', await usersFile()]);
  });
  afterAll(async () => guarded?.stop());

  async function usersFile(): Promise<string> {
    const command = join(suite.built.directory, 'apus.js');
    const { stdout } = spawnSync(process.execPath, [command, 'passwd'], {
      input: PASSWORD,
      encoding: 'utf8',
    });
    const user = { name: 'ada', password: stdout.trim(), publish: ['%u/#'], subscribe: ['%u/#'] };
    const file = join(suite.built.directory, 'users.json');
    await writeFile(file, JSON.stringify({ users: [user] }));
    return file;
  }

  function item(client: ClientPage, name: string): Locator {
    return client.page
      .getByRole('navigation')
      .getByRole('button')
      .filter({ has: client.page.getByText(name, { exact: true }) });
  }

  async function connect(client: ClientPage): Promise<void> {
    await client.page.getByRole('button', { name: 'Save and connect' }).click();
    await client.connected();
  }

  it.each(['node', 'gateway'] as const)('finds out by itself that it is at the %s door', async (door) => {
    const client = await suite.open('messages');
    await client.newConnection('mine', door === 'node' ? suite.served.nodeUrl : suite.served.gatewayUrl);
    await connect(client);
    await client.page.getByRole('banner').getByText(`${door} door`).waitFor();
    await client.chooseFromMenu('Edit …');
    const facts = client.page.getByRole('definition');
    await facts.filter({ hasText: /^new$/ }).waitFor();
    await client.screenshot(`connection-${door}-light`);
  });

  it('sends every field of CONNECT', async () => {
    const client = await suite.open('messages');
    const { page } = client;
    await client.newConnection('everything', suite.served.nodeUrl);
    await page.getByLabel('Client identifier').fill('everything');
    await page.getByLabel('Keep alive').fill('33');
    await page.locator('label', { hasText: 'Clean start' }).click();
    await page.getByLabel('Session expiry interval').fill('600');
    await page.getByLabel('Receive maximum').fill('12');
    await page.getByLabel('Maximum packet size').fill('100000');
    await page.getByLabel('Topic alias maximum').fill('5');
    const session = page.getByRole('group', { name: 'Session and limits' });
    await session.getByRole('button', { name: 'Add a property' }).click();
    await session.getByLabel('Name of property 1').fill('region');
    await session.getByLabel('Value of property 1').fill('eu');
    await page.locator('label', { hasText: 'Leave a will' }).click();
    const will = page.getByRole('group', { name: 'Will' });
    await will.getByRole('textbox', { name: 'Topic', exact: true }).fill('last/words');
    await will.getByLabel('Payload', { exact: true }).fill('bye');
    await will.getByLabel('Delay interval').fill('7');
    await will.getByLabel('Content type').fill('text/plain');
    expect(await client.accessibilityProblems()).toEqual([]);
    await connect(client);
    await client.openView('Wire');
    await page
      .getByRole('grid')
      .locator('[aria-selected]')
      .filter({ hasText: 'MQTT 5.0, everything' })
      .click();
    const fields = page.getByRole('complementary').getByRole('row');
    for (const field of [
      'Keep Alive 33 s',
      'Session Expiry Interval 600 s',
      'Receive Maximum 12',
      'Maximum Packet Size 100000 bytes',
      'Topic Alias Maximum 5',
      'User Property "region" = "eu"',
      'Will Delay Interval 7 s',
      'Content Type "text/plain"',
      'Will Topic last/words',
      'Will Payload "bye"',
    ]) {
      await fields
        .filter({ hasText: field.replace(/^(\D+?) (?=[\d"l])/, '$1') })
        .first()
        .waitFor();
    }
    await client.screenshot('packets-connect-light');
  });

  it('says in words why it was refused, asks for the password, and stores it only when told to', async () => {
    const client = await suite.open('messages', { context: await suite.newContext() });
    const { page } = client;
    await client.newConnection('guarded', guarded.nodeUrl);
    await page.getByLabel('User name').fill('ada');
    await page.getByRole('textbox', { name: 'Password' }).fill('wrong');
    await page.getByRole('button', { name: 'Save and connect' }).click();
    const alert = page.getByRole('alert');
    await alert.getByText('0x86 Bad User Name or Password').waitFor();
    await alert.getByText('Check both.').waitFor();
    await client.screenshot('connection-refused-light');
    await client.chooseFromMenu('Edit …');
    await page
      .getByRole('group', { name: 'Identity' })
      .getByLabel('Password', { exact: true })
      .fill(PASSWORD);
    await connect(client);
    await eventually(() => client.stored()).toContain('ada');
    expect(await client.stored()).not.toContain(PASSWORD);

    // After a reload the page asks for it again. Its user now chooses to store it.
    await page.reload();
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Secrets for “guarded”' });
    await dialog.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await dialog.getByLabel('Store the secrets in this browser').check();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('secrets-dialog-light');
    await dialog.getByRole('button', { name: 'Connect' }).click();
    await client.connected();
    await eventually(() => client.stored()).toContain(PASSWORD);
    // The password is stored: the page connects by itself.
    await page.reload();
    await client.connected();
  });

  it('says in words why the server refuses a subscription or a PUBLISH', async () => {
    const client = await suite.open('messages');
    const { page } = client;
    await client.newConnection('guarded', guarded.nodeUrl);
    await page.getByLabel('User name').fill('ada');
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await connect(client);
    await client.openView('Messages');
    await page.getByLabel('Topic filter', { exact: true }).fill('others/#');
    await page.getByRole('button', { name: 'Subscribe', exact: true }).click();
    await client.subscription('others/#').getByRole('alert').getByText('0x87 Not authorized').waitFor();
    const form = page.getByRole('form', { name: 'Publish' });
    await form.getByLabel('Topic', { exact: true }).fill('others/x');
    await form.locator('label', { hasText: 'QoS 1' }).click();
    await form.getByRole('button', { name: 'Publish', exact: true }).click();
    await form.getByRole('status').getByText('Not published: 0x87 Not authorized').waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('messages-refused-light');
  });

  it('keeps profiles over a reload: renamed, duplicated and deleted', async () => {
    const client = await suite.open('messages');
    const { page } = client;
    await client.newConnection('first name', suite.served.nodeUrl);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Edit first name', exact: true }).click();
    await page.getByLabel('Name', { exact: true }).fill('second name');
    await page.getByText('Unsaved changes').waitFor();
    // A drawer that was closed by mistake has lost nothing.
    await page.keyboard.press('Escape');
    await eventually(() => page.getByRole('dialog').count()).toBe(0);
    await client.chooseFromMenu('Edit …');
    await eventually(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('second name');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await item(client, 'second name').waitFor();
    await client.chooseFromMenu('Duplicate');
    await item(client, 'Copy of second name').waitFor();
    // The page shows the change before the browser has stored it.
    await eventually(() => client.stored()).toContain('Copy of second name');
    await page.reload();
    await item(client, 'second name').waitFor();
    await item(client, 'Copy of second name').click();
    await client.chooseFromMenu('Delete …');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete …' }).click();
    await eventually(() => item(client, 'Copy of second name').count()).toBe(0);
    await eventually(() => client.stored()).not.toContain('Copy of second name');
    await page.reload();
    await item(client, 'second name').waitFor();
    await eventually(() => item(client, 'Copy of second name').count()).toBe(0);
  });

  it.each(['user and password', 'a token'])(
    'asks for %s where the broker refuses the connection',
    async (what) => {
      const file = join(suite.built.directory, 'sign-in.json');
      const secret = 'a secret of at least thirty-two bytes';
      await writeFile(file, JSON.stringify({ authenticators: [{ jwt: { secret } }] }));
      const flags = what === 'a token' ? ['--identity', file] : ['--users', await usersFile()];
      const broker = await suite.built.serve(flags);
      onTestFinished(() => broker.stop());
      const client = await suite.openUrl(broker.pageUrl, { context: await suite.newContext() });
      const form = client.page.getByRole('form', { name: 'Sign in' });
      if (what === 'a token') {
        const token = await new SignJWT({ sub: 'ann', publish: ['#'], subscribe: ['#'] })
          .setProtectedHeader({ alg: 'HS256' })
          .setExpirationTime('1h')
          .sign(new TextEncoder().encode(secret));
        await form.getByLabel('or a token').fill(token);
      } else {
        await form.getByLabel('User name').fill('ada');
        await form.getByLabel('Password', { exact: true }).fill(PASSWORD);
      }
      expect(await client.accessibilityProblems()).toEqual([]);
      await form.getByRole('button', { name: 'Sign in' }).click();
      await client.connected();
      expect(await client.stored()).not.toContain(PASSWORD);
    },
  );

  it('takes no new connection before it has found the stored ones', async () => {
    const client = await suite.openUrl('about:blank');
    const { page } = client;
    let letGo = (): void => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    await page.route('**/config.json', async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(`${suite.served.pageUrl}#/messages`);
    const add = page.getByRole('button', { name: 'New connection', exact: true });
    await eventually(() => add.isDisabled()).toBe(true);
    letGo();
    await client.newConnection('early', suite.served.nodeUrl);
    await connect(client);
    await item(client, 'early').waitFor();
    await item(client, 'This broker').waitFor();
  });

  it('holds several connections at once, each with its own messages', async () => {
    const client = await suite.openConnected('messages');
    const { page } = client;
    await client.subscribe('several/#');
    await client.connectToGateway();
    await client.publish('several/one', 'from the gateway door', 1);
    await eventually(() => client.rows('several/one').count()).toBe(1);
    await page.getByRole('navigation').getByTitle(suite.served.nodeUrl).click();
    await client.rows('several/one', 'from the gateway door').waitFor();
    await eventually(() =>
      page.getByRole('navigation').getByRole('img', { name: 'Connected', exact: true }).count(),
    ).toBe(2);
  });

  it('notices that the server goes, says so, and reconnects when it is back', async () => {
    const atPort = ['--port', String(await freePort())];
    let fleeting = await suite.built.serve(atPort);
    onTestFinished(() => fleeting.stop());
    const client = await suite.openUrl(`${fleeting.pageUrl}#/messages`);
    const { page } = client;
    const seen: string[] = [];
    const pending = new Set<Request>();
    page.on('request', (request) => {
      seen.push(request.url());
      pending.add(request);
    });
    page.on('requestfinished', (request) => pending.delete(request));
    await client.connected();
    await client.subscribe('back/#');
    // The page fetches all scripts of the other views at once, while the server is there.
    await eventually(() => seen.some((url) => url.includes('connection-drawer')) && pending.size === 0).toBe(
      true,
    );
    await fleeting.stop();
    await page.getByRole('banner').getByRole('img', { name: 'Waiting to try again' }).waitFor();
    await client.openView('Wire');
    await page.getByRole('alert').waitFor();
    await client.screenshot('connection-waiting-light');
    fleeting = await suite.built.serve(atPort);
    await page.getByRole('banner').getByRole('img', { name: 'Connected', exact: true }).waitFor();
    await client.openView('Messages');
    await client.subscription('back/#').getByText('QoS 1').waitFor();
    // The browser logs an error for a socket that cannot be opened.
    client.complaints.length = 0;
  });

  it('satisfies axe in the editor in light and in dark colours', async () => {
    const client = await suite.openConnected('connection');
    expect(await client.accessibilityProblemsInBothColours('connection')).toEqual([]);
  });

  it('fits a phone', async () => {
    const client = await suite.openConnected('connection', { width: 360, height: 740 });
    await eventually(() => client.overflow()).toBeLessThanOrEqual(0);
    await client.screenshot('phone-connection');
    await client.page.keyboard.press('Escape');
    await client.page.getByRole('button', { name: 'Open the navigation' }).click();
    await item(client, 'This broker, gateway door').waitFor();
    expect(await client.accessibilityProblems()).toEqual([]);
    await client.screenshot('phone-navigation');
  });
});
