import Switchyard
import SwitchyardDiagnostics

// The samples of the article on diagnostics, word for word.

enum DiagnosticsSamples {
    struct Spinner: Sendable {
        func set(_ isActive: Bool) {}
    }

    static func watch(_ options: inout NetworkClient.Options, _ spinner: Spinner) -> (HARRecorder, TrafficMeter) {
        // sample
        let recorder = HARRecorder()
        let meter = TrafficMeter()
        options.interceptors = [
            .logging(to: StandardErrorSink(), .verbose),
            recorder.interceptor,
            meter.interceptor,
            .activity { isActive in spinner.set(isActive) },
        ]
        // end
        return (recorder, meter)
    }

    static func hide(_ options: inout NetworkClient.Options) -> Redaction {
        // sample
        var redaction = Redaction.standard
        redaction.headerNames.insert("x-club")
        redaction.parameterNames.insert("voucher")
        redaction.nameEndings.insert("licensekey")
        options.interceptors = [
            .logging(to: StandardErrorSink(), LogOptions(redaction: redaction)),
            HARRecorder(redaction: redaction).interceptor,
        ]
        // end
        return redaction
    }
}
