// SPDX-License-Identifier: Apache-2.0
// What Grafana's own types say of a dashboard, as JSON has it, with panels whose options are those
// of their kind; Grafana's type of a panel lets any option pass. Of a panel's queries there is no
// type, since they belong to the data source.
import type {Dashboard as AnyDashboard, FieldConfig, FieldConfigSource, Panel as AnyPanel,
             VariableModel} from '@grafana/schema';
import type * as heatmap
  from '@grafana/schema/dist/esm/raw/composable/heatmap/panelcfg/x/HeatmapPanelCfg_types.gen';
import type * as table
  from '@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen';
import type * as timeseries
  from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';

// JSON has the values of enumerations and not their names; an enumeration of numbers takes both.
type Json<T> = unknown extends T ? T
  : T extends string ? `${T}`
  : T extends number | boolean | null | undefined ? T
  : T extends Array<infer Element> ? Array<Json<Element>>
  : {[Name in keyof T]: Json<T[Name]>};

// Grafana 9 asks whether there is a tooltip; later versions only ask which.
interface HeatmapOptions extends Omit<heatmap.Options, 'tooltip'> {
  tooltip: heatmap.HeatmapTooltip & {show: boolean};
}

interface Kinds {
  heatmap: {options: HeatmapOptions, custom: heatmap.FieldConfig};
  table: {options: table.Options, custom: table.FieldConfig};
  timeseries: {options: timeseries.Options, custom: timeseries.FieldConfig};
}

// What Grafana requires of options it also has defaults for.
export type Panel<Kind extends keyof Kinds> = Json<
  Omit<AnyPanel, 'type' | 'options' | 'fieldConfig'> & {
    type: Kind;
    options: Partial<Kinds[Kind]['options']>;
    fieldConfig: Omit<FieldConfigSource, 'defaults'> & {
      defaults: Omit<FieldConfig, 'custom'> & {custom: Partial<Kinds[Kind]['custom']>};
    };
  }>;

// Grafana writes the definition of a variable, which its types leave out.
type Variable = VariableModel & {definition?: string};

export type Dashboard = Json<Omit<AnyDashboard, 'panels' | 'templating'> & {
  templating: {list: Array<Variable>};
}> & {panels: unknown[]};
