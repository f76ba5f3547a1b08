// SPDX-License-Identifier: Apache-2.0

// A collector of OpenTelemetry that has what the tests need: it receives OTLP, and writes what it has
// got on standard output, each export as a line of JSON, and its log there, too. It is started as any
// other: collector --config FILE.
package main

import (
	"context"
	"fmt"
	"log"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry"
	"go.uber.org/zap"
)

// The exporter `lines`. It has nothing to start or to end.
type lines struct {
	component.StartFunc
	component.ShutdownFunc
	consumer.Traces
}

func write(_ context.Context, traces ptrace.Traces) error {
	text, err := (&ptrace.JSONMarshaler{}).MarshalTraces(traces)
	if err == nil {
		fmt.Println(string(text))
	}
	return err
}

func newLines(context.Context, exporter.Settings, component.Config) (exporter.Traces, error) {
	traces, err := consumer.NewTraces(write)
	return lines{Traces: traces}, err
}

// Its own telemetry is the log alone: what is usual here is half of what a collector is compiled of.
func newLogger(
	context.Context, telemetry.LoggerSettings, component.Config,
) (*zap.Logger, component.ShutdownFunc, error) {
	settings := zap.NewProductionConfig()
	settings.OutputPaths = []string{"stdout"}
	logger, err := settings.Build()
	return logger, nil, err
}

func nothing() component.Config { return &struct{}{} }

func components() (otelcol.Factories, error) {
	receivers, err := otelcol.MakeFactoryMap[receiver.Factory](otlpreceiver.NewFactory())
	if err != nil {
		return otelcol.Factories{}, err
	}
	exporters, err := otelcol.MakeFactoryMap[exporter.Factory](exporter.NewFactory(
		component.MustNewType("lines"), nothing,
		exporter.WithTraces(newLines, component.StabilityLevelStable)))
	return otelcol.Factories{
		Receivers: receivers,
		Exporters: exporters,
		Telemetry: telemetry.NewFactory(nothing, telemetry.WithCreateLogger(newLogger)),
	}, err
}

func main() {
	command := otelcol.NewCommand(otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{Command: "collector", Version: "1"},
		Factories: components,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{
			ResolverSettings: confmap.ResolverSettings{
				ProviderFactories: []confmap.ProviderFactory{fileprovider.NewFactory()},
				DefaultScheme:     "file",
			},
		},
	})
	if err := command.Execute(); err != nil {
		log.Fatal(err)
	}
}
