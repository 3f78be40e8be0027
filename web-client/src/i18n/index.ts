import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import { en } from './en/index.ts';
import type { views } from './en/views.ts';

declare module 'i18next' {
  interface CustomTypeOptions {
    readonly defaultNS: 'translation';
    readonly resources: { readonly translation: typeof en & typeof views };
  }
}

void i18next.use(initReactI18next).init({
  lng: 'en',
  fallbackLng: 'en',
  resources: { en: { translation: en } },
  // React escapes all text.
  interpolation: { escapeValue: false },
  initAsync: false,
});

export { i18next };

/** Adds the strings of the views that come after Messages. */
export async function loadViewStrings(): Promise<void> {
  const { views } = await import('./en/views.ts');
  i18next.addResourceBundle('en', 'translation', views, true);
}
