import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import { expect, it, onTestFinished } from 'vitest';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';

clientSuite('tokens in the web client', (suite) => {
  it('takes a token out of the URL when “Connect” is clicked, and is let in with it', async () => {
    const file = join(suite.built.directory, 'tokens.json');
    const secret = 'a secret of at least thirty-two bytes';
    await writeFile(file, JSON.stringify({ authenticators: [{ jwt: { secret } }] }));
    const broker = await suite.built.serve(['--identity', file]);
    onTestFinished(() => broker.stop());
    const token = await new SignJWT({ sub: 'ann', publish: ['#'], subscribe: ['#'] })
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime('1h')
      .sign(new TextEncoder().encode(secret));
    const client = await suite.open('messages', { context: await suite.newContext() });
    const { page } = client;
    await page.getByRole('button', { name: 'New connection', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'New connection' });
    const url = dialog.getByLabel('URL');
    const field = dialog.getByLabel('Token', { exact: true });
    await url.fill(`${broker.nodeUrl}?token=${token}`);
    // The field loses the focus when the button is pressed: the button must not move before it is released.
    expect(await client.accessibilityProblems()).toEqual([]);
    const button = dialog.getByRole('button', { name: 'Connect', exact: true });
    const box = await button.boundingBox();
    if (box === null) throw new Error('the button has no place');
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await eventually(() => url.inputValue()).toBe(broker.nodeUrl);
    await eventually(() => field.inputValue()).toBe(token);
    await client.settled();
    const pressed = await button.boundingBox();
    // A pressed button goes down by a pixel.
    expect({ ...pressed, y: Math.abs((pressed?.y ?? 0) - box.y) <= 1 }).toEqual({ ...box, y: true });
    await page.mouse.up();
    await client.connected();
    expect(await client.stored()).not.toContain(token);
  });

  it('warns before its token ends, and takes a new one in the same session', async () => {
    const file = join(suite.built.directory, 'renewed.json');
    const secret = 'a secret of at least thirty-two bytes';
    await writeFile(file, JSON.stringify({ authenticators: [{ jwt: { secret } }] }));
    const broker = await suite.built.serve(['--identity', file]);
    onTestFinished(() => broker.stop());
    const tokenFor = (time: string): Promise<string> =>
      new SignJWT({ sub: 'ann', publish: ['#'], subscribe: ['#'] })
        .setProtectedHeader({ alg: 'HS256' })
        .setExpirationTime(time)
        .sign(new TextEncoder().encode(secret));
    const client = await suite.openUrl(broker.pageUrl, { context: await suite.newContext() });
    const { page } = client;
    const form = page.getByRole('form', { name: 'Sign in' });
    await form.getByLabel('or a token').fill(await tokenFor('90s'));
    await form.getByRole('button', { name: 'Sign in' }).click();
    await client.connected();
    const notice = page.getByRole('form', { name: 'Renew' });
    await notice.getByText(/^The token of this connection ends at /).waitFor();
    await notice.getByLabel('New token').fill(await tokenFor('80s'));
    await notice.getByText('It ends no later than the present one').waitFor();
    await notice.getByLabel('New token').fill(await tokenFor('1h'));
    expect(await client.accessibilityProblems()).toEqual([]);
    await notice.getByRole('button', { name: 'Renew' }).click();
    await eventually(() => notice.count()).toBe(0);
    await client.openView('Wire');
    const packets = page
      .getByRole('grid', { name: 'What went over the wire, newest first' })
      .getByRole('row');
    await eventually(() => packets.filter({ hasText: /AUTH/ }).count()).toBe(2);
    await eventually(() => packets.filter({ hasText: /DISCONNECT/ }).count()).toBe(0);
    await client.connected();
  });

  it('says that its token has ended, and asks for another one', async () => {
    const file = join(suite.built.directory, 'ended.json');
    const secret = 'a secret of at least thirty-two bytes';
    await writeFile(file, JSON.stringify({ authenticators: [{ jwt: { secret } }] }));
    const broker = await suite.built.serve(['--identity', file]);
    onTestFinished(() => broker.stop());
    const tokenFor = (time: string): Promise<string> =>
      new SignJWT({ sub: 'ann', publish: ['#'], subscribe: ['#'] })
        .setProtectedHeader({ alg: 'HS256' })
        .setExpirationTime(time)
        .sign(new TextEncoder().encode(secret));
    const client = await suite.openUrl(broker.pageUrl, { context: await suite.newContext() });
    const { page } = client;
    await page.getByText('Sign in: this connection has no credentials.').waitFor();
    const form = page.getByRole('form', { name: 'Sign in' });
    await form.getByLabel('or a token').fill(await tokenFor('6s'));
    await form.getByRole('button', { name: 'Sign in' }).click();
    await client.connected();
    await page.getByText(/^The token ended at /).waitFor();
    await eventually(() => page.getByText('The server cannot be reached').count()).toBe(0);
    await form.getByLabel('or a token').fill(await tokenFor('1h'));
    await form.getByRole('button', { name: 'Sign in' }).click();
    await client.connected();
    client.complaints.length = 0;
  });
});
