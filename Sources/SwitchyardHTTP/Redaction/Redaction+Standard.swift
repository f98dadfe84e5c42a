extension Redaction {
    /// Hides what usually holds credentials.
    public static let standard = Redaction(
        headerNames: HTTPHeaders.sensitiveNames.union([
            "www-authenticate", "proxy-authenticate", "authentication-info", "proxy-authentication-info", "cookie2",
            "set-cookie2",
        ]),
        parameterNames: [
            "accesskey", "accesstoken", "apikey", "apisecret", "assertion", "auth", "authcode", "authorization",
            "authorizationcode", "authtoken", "bearer", "clientassertion", "clientsecret", "code", "codeverifier",
            "confirmpassword", "credentials", "csrftoken", "currentpassword", "devicecode", "idtoken", "jsessionid",
            "jwt",
            "key", "mfacode", "newpassword", "oauthverifier", "oldpassword", "otp", "otpcode", "pass", "passcode",
            "passphrase", "passwd", "password", "passwordconfirm", "passwordconfirmation", "phpsessid", "pin",
            "pincode",
            "privatekey", "pwd", "recoverycode", "refreshtoken", "saml", "samlart", "samlrequest", "samlresponse",
            "secret", "secretkey", "securitytoken", "session", "sessionid", "sessiontoken", "sid", "sig", "sign",
            "signature", "smscode", "ticket", "token", "usercode", "userpin", "verificationcode", "webhook", "webhooks",
            "xamzcredential", "xamzsecuritytoken", "xamzsignature", "xapikey", "xgoogcredential", "xgoogsignature",
        ],
        nameEndings: [
            "accesskey", "accesskeyid", "accesstokens", "accountkey", "apikey", "apikeys", "assertion", "authkey",
            "authorization", "bearer", "connectionstring", "cookie", "credential", "customerkey", "encryptionkey",
            "functionskey", "jwt", "masterkey", "otp", "pass", "passcode", "passphrase", "passwd", "password",
            "passwords",
            "privatekey", "privatekeys", "pwd", "refreshtokens", "saml", "samlrequest", "samlresponse", "secret",
            "secretkey", "secrets", "serviceticket", "sessid", "sessionid", "sessionkey", "sharedkey", "signature",
            "signingkey", "sshkey", "storagekey", "subscriptionkey", "token", "totp", "webhook", "webhookurl",
        ]
    )
}

extension HTTPHeaders {
    /// The names of fields whose values are credentials, in lower case.
    public static let sensitiveNames: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "api-key", "apikey",
        "x-auth-token", "x-auth-key", "x-access-token", "x-refresh-token", "x-session-token", "x-csrf-token",
        "x-xsrf-token", "x-signature", "x-amz-security-token", "x-goog-api-key", "x-vault-token", "x-functions-key",
        "ocp-apim-subscription-key", "private-token",
    ]
}
