// cert-manager's controller, for the tests: its own control loops for Issuers of the types selfSigned and ca, and for the
// Certificates that they sign, in the namespace of --namespace alone. cert-manager's program is in a module that is not
// published, so this starts the loops of the published one.
package main

import (
	"context"
	"flag"
	"log"
	"os/signal"
	"syscall"
	"time"

	"github.com/cert-manager/cert-manager/pkg/controller"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	_ "github.com/cert-manager/cert-manager/pkg/controller/issuers"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
)

func main() {
	namespace := flag.String("namespace", "", "the only namespace that it looks at")
	flag.Parse()
	if *namespace == "" {
		log.Fatal("--namespace is missing")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()

	factory, err := controller.NewContextFactory(ctx, controller.ContextOptions{
		Namespace:          *namespace,
		KubernetesAPIQPS:   20,
		KubernetesAPIBurst: 50,
		CertificateOptions: controller.CertificateOptions{
			CertificateRequestMinimumBackoffDuration: time.Hour,
			CertificateRequestMaximumBackoffDuration: 32 * time.Hour,
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	for name, construct := range controller.Known() {
		loop, err := construct(factory)
		if err != nil {
			log.Fatalf("%s: %v", name, err)
		}
		go func() {
			if err := loop.Run(5, ctx); err != nil {
				log.Fatalf("%s: %v", name, err)
			}
		}()
	}
	// Every loop has asked for its informers by now; all share them.
	shared, err := factory.Build()
	if err != nil {
		log.Fatal(err)
	}
	shared.SharedInformerFactory.Start(ctx.Done())
	shared.KubeSharedInformerFactory.Start(ctx.Done())
	<-ctx.Done()
}
