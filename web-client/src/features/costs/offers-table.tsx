import { usdText } from '@apus/cost';
import { useTranslation } from 'react-i18next';
import classes from './costs-view.module.css';

/** A service that could carry the traffic, with its monthly price. */
export interface Offer {
  readonly name: string;
  readonly usd: number;
  /** The reasons why it does not carry it; empty if it does. */
  readonly misfits: readonly string[];
  readonly isHere: boolean;
}

/** The cheapest first. */
export function OffersTable({ offers }: { readonly offers: readonly Offer[] }) {
  const { t } = useTranslation();
  const sorted = [...offers].sort((a, b) => a.usd - b.usd);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls on a phone, and must do so by key
    <div className={classes.scroll} role="group" tabIndex={0} aria-label={t('costs.elsewhere')}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">{t('costs.offer')}</th>
            <th scope="col" className={classes.number}>
              {t('costs.month')}
            </th>
            <th scope="col">{t('costs.misfit')}</th>
          </tr>
        </thead>
        <tbody>
          {sorted.map(({ name, usd, misfits, isHere }) => (
            <tr key={name} data-here={isHere || undefined}>
              <th scope="row">{name}</th>
              <td className={classes.number}>{usdText(usd)}</td>
              <td className={classes.misfit}>{misfits.join(' ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
