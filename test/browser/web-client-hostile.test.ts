import { expect, it } from 'vitest';
import type { ClientPage } from './support/client-page.ts';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';

/** 49 levels: more than a JSONPath library looks through by itself. */
const DEEP = `${'{"a":'.repeat(49)}1${'}'.repeat(49)}`;

/** The engine of a browser needs ages for this expression and a sentence that ends with another sign. */
const CATASTROPHE = '^(\\w+\\s?)*$';
const SENTENCE = 'The quick brown fox jumps over the lazy dog and runs far away!';

/** What the details lay out, whatever a payload holds. A time would depend on the machine: `npm run soak:hostile` has it. */
const ELEMENTS_MAX = 4_000;
const CHARACTERS_MAX = 600_000;

clientSuite('what a message cannot do to the web client', (suite) => {
  async function search(client: ClientPage, kind: string, query: string): Promise<void> {
    await client.page.getByRole('combobox', { name: 'How to search' }).selectOption({ label: kind });
    await client.page.getByLabel('Search the payloads').fill(query);
  }

  async function openKeeping(filter: string): Promise<ClientPage> {
    const client = await suite.openConnected('messages');
    await client.subscribe(filter);
    return client;
  }

  it('a deep message does not end a search by JSONPath, and the filter works after a reload', async () => {
    const client = await openKeeping('deep/#');
    await search(client, 'JSONPath', '$..z');
    await suite.other.publishAsync('deep/1', DEEP);
    await suite.other.publishAsync('deep/2', '{"z":1}', { retain: true });
    await client.rows('deep/2').waitFor();
    await client.page.reload();
    await client.connected();
    await suite.other.publishAsync('deep/3', DEEP);
    await suite.other.publishAsync('deep/4', '{"z":2}');
    await client.rows('deep/4').waitFor();
    await eventually(() => client.page.getByText('This view has failed').count()).toBe(0);
  });

  it.each([
    ['Regex', CATASTROPHE, SENTENCE],
    ['JSONPath', "$[?match(@.text, '([A-Za-z]+ ?)*')]", JSON.stringify([{ text: SENTENCE }])],
    ['JSONPath', '$..*..*..*..*..*..z', `${'['.repeat(150)}${']'.repeat(150)}`],
  ])(
    'a search by %s %s does not stop the page, which says what was left out',
    async (kind, query, payload) => {
      const client = await openKeeping('slow/#');
      await suite.other.publishAsync('slow/before', 'x');
      await client.rows('slow/before').waitFor();
      await search(client, kind, query);
      await suite.other.publishAsync('slow/1', payload);
      await client.page.getByText('1 message took too long to search').waitFor();
      await search(client, 'Text', 'later');
      await suite.other.publishAsync('slow/2', 'later');
      await client.rows('slow/2').waitFor();
    },
  );

  it.each([
    ['3,000 levels', '['.repeat(3_000) + ']'.repeat(3_000)],
    ['393 KB with 1,000 levels', `${'['.repeat(1_000)}${'1,'.repeat(195_000)}1${']'.repeat(1_000)}`],
    ['200 levels above many numbers', `${'['.repeat(199)}${'1,'.repeat(60_000)}1${']'.repeat(199)}`],
    ['one line of 400 KB', JSON.stringify(Array.from({ length: 20_000 }, (_, n) => ({ name: `n${n}` })))],
    ['a number of 400,000 digits', `{"n":${'7'.repeat(400_000)}}`],
    ['a name of 400,000 characters', `{"${'k'.repeat(400_000)}":[[1],[2],[3]]}`],
    ['400,000 characters without a space', 'x1'.repeat(200_000)],
    ['a list of a million numbers', `[${'1,'.repeat(999_999)}1]`],
    ['140,000 names', `{${Array.from({ length: 140_000 }, (_, n) => `"n${n}":1`).join(',')}}`],
    ['1.9 MB of one character with its marks', `a${'\u0301'.repeat(950_000)}1`],
    ['1.9 MB of joined emoji', `1${'👩‍👩‍👧‍👦'.repeat(75_000)}`],
    ['halves of characters', '{"a":"\\ud800","\\udfff":"\\ud800\\ud800"}'],
  ])('shows %s as a tree, as text and as changes', async (_, payload) => {
    const client = await openKeeping('shape/#');
    const { page } = client;
    await suite.other.publishAsync('shape/1', payload.replaceAll('1', '2').replaceAll('7', '8'));
    await suite.other.publishAsync('shape/1', payload);
    await eventually(() => client.rows('shape/1').count()).toBe(2);
    await client.rows('shape/1').first().click();
    const looks = page.getByRole('radiogroup', { name: 'How to show it' });
    for (const look of ['Text', 'Changes']) {
      await looks.locator('label', { hasText: look }).click();
      await eventually(() => looks.getByRole('radio', { name: look }).isChecked()).toBe(true);
      await client.settled();
      const all = page.getByRole('button', { name: /^Show all/ });
      if (look === 'Text' && (await all.isVisible())) await all.click();
      await client.settled();
      const [elements, characters] = (await page.evaluate(
        "[document.querySelectorAll('aside *').length, document.querySelector('aside').textContent.length]",
      )) as [number, number];
      expect(elements).toBeLessThan(ELEMENTS_MAX);
      expect(characters).toBeLessThan(CHARACTERS_MAX);
    }
    await eventually(() => page.getByText('This view has failed').count()).toBe(0);
  });

  it.each([
    ['CBOR', '9a001c0000'],
    ['MessagePack', 'dd001c0000'],
  ])('says why it shows a list of 1,835,008 numbers in %s as bytes', async (format, head) => {
    const client = await openKeeping('list/#');
    const payload = Buffer.concat([Buffer.from(head, 'hex'), Buffer.alloc(0x1c0000, 1)]);
    await suite.other.publishAsync('list/1', payload);
    await client.rows('list/1').click();
    await client.page.getByText('Not shown as a tree: more than 20,000 values').waitFor();
    await client.page.locator(`input[value="Auto: ${format}"]`).waitFor();
  });

  it('shows JSON as it was sent, and the characters that cannot be seen', async () => {
    const client = await openKeeping('exact/#');
    const { page } = client;
    const payload = '{"a":1,"a":2,"long":0.12345678901234567890123,"zero":1.50,"turned":"a\u202eb\u200bc"}';
    await suite.other.publishAsync('exact/1', payload);
    await client.rows('exact/1', 'a\\u{202e}b\\u{200b}c').waitFor();
    await client.rows('exact/1').click();
    await page
      .getByRole('radiogroup', { name: 'How to show it' })
      .locator('label', { hasText: 'Text' })
      .click();
    await eventually(() => page.locator('aside pre').textContent()).toBe(
      [
        '{',
        '  "a": 1,',
        '  "a": 2,',
        '  "long": 0.12345678901234567890123,',
        '  "zero": 1.50,',
        '  "turned": "a\\u{202e}b\\u{200b}c"',
        '}',
      ].join('\n'),
    );
  });

  it('shows a message with thousands of properties, and the first of them', async () => {
    const client = await openKeeping('many/#');
    const userProperties = { p: Array.from({ length: 60_000 }, (_, n) => `value ${n}`) };
    await suite.other.publishAsync('many/1', 'x', { properties: { userProperties } });
    await client.rows('many/1').waitFor();
    await client.rows('many/1').click();
    await client.page.getByRole('tab', { name: 'Properties' }).click();
    await client.page.getByText('59800 more are not shown').waitFor();
    await client.page.getByRole('tab', { name: 'Packet' }).click();
    await client.settled();
  });
});
