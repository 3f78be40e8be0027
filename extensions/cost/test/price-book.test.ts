import { describe, expect, it } from 'vitest';
import { billOf, billText, type PriceName, priceBook, priceBookText, priceOf } from '../src/index.ts';

const NAMES = Object.keys(priceBook) as PriceName[];

describe('the price book', () => {
  it.each(NAMES)('%s has a unit, a Region, a date and a source', (name) => {
    const price = priceOf(name);
    expect(price.usd).toBeGreaterThan(0);
    expect(price.per).toBeGreaterThan(0);
    expect(price.unit).not.toBe('');
    expect(price.region).toMatch(/^(us-east-1|all)$/);
    expect(price.date).toMatch(/^20\d\d-(0[1-9]|1[0-2])$/);
    expect(new URL(price.source).protocol).toBe('https:');
  });

  it('is printed with date and source', () => {
    const lines = priceBookText().split('\n');
    expect(lines.indexOf('')).toBe(NAMES.length + 1);
    expect(lines).toContain(
      '- Amazon API Gateway, WebSocket message: $0.80 / M beyond 1,000,000,000 a month.',
    );
    expect(lines).toContain('- AWS Lambda, Request: 1,000,000 a month are free.');
    const message = lines.find((line) => line.includes('WebSocket message'));
    expect(message).toMatch(/\$1\.00 \/ M .*us-east-1 +2026-08 +documented +https:\/\/aws\.amazon\.com/);
  });
});

describe('a bill as text', () => {
  it('is a table of quantity, price, dollars and share', () => {
    const text = billText(billOf({ gatewayMessagesIn: 3_000_000, alarmMonths: 10 }));
    expect(text).toBe(
      [
        'line                  quantity      price  dollars  share',
        'Gateway messages in  3,000,000  $1.00 / M    $3.00  75.0%',
        'Alarms                      10      $0.10    $1.00  25.0%',
        'together                                     $4.00',
      ].join('\n'),
    );
  });
});
