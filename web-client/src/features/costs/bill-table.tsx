import { type Bill, usdText } from '@apus/cost';
import { useTranslation } from 'react-i18next';
import { formatCount } from '../../ui/format.ts';
import classes from './costs-view.module.css';

/** Smaller prices are given for a million. */
const UNIT_USD_MIN = 0.01;
const MILLION = 1_000_000;

/** The lines of a bill, the most expensive first. */
export function BillTable({ bill }: { readonly bill: Bill }) {
  const { t } = useTranslation();
  const unit = (usd: number): string =>
    usd >= UNIT_USD_MIN ? usdText(usd) : t('costs.perMillion', { usd: usdText(usd * MILLION) });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls on a phone, and must do so by key
    <div className={classes.scroll} role="group" tabIndex={0} aria-label={t('costs.bill')}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">{t('costs.line')}</th>
            <th scope="col" className={classes.number}>
              {t('costs.quantity')}
            </th>
            <th scope="col" className={classes.number}>
              {t('costs.price')}
            </th>
            <th scope="col" className={classes.number}>
              {t('costs.dollars')}
            </th>
            <th scope="col">{t('costs.share')}</th>
          </tr>
        </thead>
        <tbody>
          {bill.lines.map(({ label, quantity, unitUsd, usd, share }) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td className={classes.number}>{formatCount(quantity)}</td>
              <td className={classes.number}>{unit(unitUsd)}</td>
              <td className={classes.number}>{usdText(usd)}</td>
              <td>
                <span className={classes.share} role="img" aria-label={`${(share * 100).toFixed(1)}%`}>
                  <span style={{ width: `${share * 100}%` }} />
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
